"""What tests share does what it says."""

from __future__ import annotations

import inspect

import pytest
from support import each_of


@each_of("number, square", [(1, 1), (2, 4), (3, 9)])
def test_each_row_is_tried(number, square, tmp_path):
    """Each with all its values, beside the fixtures."""
    (tmp_path / str(number)).touch()
    assert len(list(tmp_path.iterdir())) == number
    assert number**2 == square


def test_each_row_that_fails_is_told():
    """Whether an assertion fails, an error is raised, or one that is expected is not."""

    @each_of("number", [0, 1, 2, 3])
    def test(number):
        assert number != 1
        if number == 2:
            with pytest.raises(ZeroDivisionError):
                pass
        _ = 1 / (number - 3)

    assert list(inspect.signature(test).parameters) == []
    with pytest.raises(BaseExceptionGroup, match="3 of 4 rows") as caught:
        test()
    assert [error.__notes__[-1] for error in caught.value.exceptions] == [
        f"with ['number'] = ({number},)" for number in (1, 2, 3)
    ]
    assert [type(error) for error in caught.value.exceptions] == [
        AssertionError,
        pytest.fail.Exception,
        ZeroDivisionError,
    ]
