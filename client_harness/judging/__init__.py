"""Readers beside phrases, how well readers do, and what agents know at the end.

`model_reader` lets a language model read texts, `calibrate` measures readers on labelled texts, and
`debrief` asks agents what is so.
"""
