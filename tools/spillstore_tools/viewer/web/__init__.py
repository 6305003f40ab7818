"""The viewer in a browser: pages that this machine serves to itself, with one ES module and no network.

`serve` has the server, `access` who may ask it, `application` its addresses, `opened` what stays open between two requests. A page is a module
(`sessions_page`, `artifacts_page`, `log_page`, `audit_page`, `charts_page`, `changes_page`, `line_page`), written with `html`; `log_rows` writes the rows of a log,
once for pages, for the module that asks for more of them, and for files that are saved. Nothing of an artifact gets into a page but as escaped text.
"""
