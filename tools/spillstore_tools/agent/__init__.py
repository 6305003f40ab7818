"""The tools that a model calls, one module each: definition, arguments and function stand together.

``bash`` runs commands; ``get_artifact``, ``search_artifact``, ``compare_artifacts``, ``list_artifacts`` and
``artifact_info`` read what is stored (``reading_tools``). ``toolbox`` has all of them for one session. What they share:
``definitions`` (schemas as APIs take them), ``arguments`` (values as models send them), ``answers`` (bounds, events,
errors), ``artifacts`` (which artifact a call means).
"""
