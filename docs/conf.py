"""Settings of Sphinx for `make docs`."""

project = "Tallybone"
extensions = ["myst_parser"]
exclude_patterns = ["drawings"]
html_theme = "furo"
html_title = "Tallybone"
html_copy_source = False
html_show_copyright = False
# Links to headings work as on code hosts.
myst_heading_anchors = 4
nitpicky = True
