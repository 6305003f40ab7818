"""Each shape fits the text that it says, and not the other one."""

from support import each_of

from spillstore.redaction.tables import shapes


@each_of("pattern, fits, other, asked", shapes.EXAMPLES)
def test_a_shape_fits_its_example(pattern, fits, other, asked):
    """By the method that the rules ask."""
    method = getattr(pattern, asked)
    assert [bool(method(text.encode("latin-1"))) for text in (fits, other)] == [True, False]


def test_there_are_shapes():
    """They were found, and none stands in the table without examples."""
    expressions = [
        each for name, each in vars(shapes).items() if name.isupper() and hasattr(each, "fullmatch")
    ]
    assert len(expressions) == len(shapes.EXAMPLES) > 50
