"""People's worlds: compact seeds in `<person>/*.yaml`, generated into a database by `fill_<category>.py`."""
