"""Agent frameworks: what their tools return is stored and shown in part. ``core`` is for all of them, the others for one each."""
