"""What a viewer knows of an artifact, without any user interface: in flat memory, each call of a bounded cost.

`log` has the rows, `seen` and `reads` what the model saw and fetched later, `hits` a search that never blocks, `telling` the lines that matter,
`previous` what has changed since the run before, `styles` a line as text with colours, `places` the call that shows a place,
`listing` the sessions and artifacts, `export` a file of lines. What takes long is a `steps.Steps`: it runs for as many seconds as it is given.
"""
