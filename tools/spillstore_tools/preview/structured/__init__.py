"""JSON and XML cut by elements, and cuts of any text turned into the parts of a preview."""
