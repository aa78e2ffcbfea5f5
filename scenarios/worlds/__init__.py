"""People's worlds: compact seeds in `people/<person>/*.yaml`, generated into a database by the
modules below `fill/`.
"""
