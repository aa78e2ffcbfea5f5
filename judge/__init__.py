"""The judge: checks over a trace and the final world, and the verdict that they give.

It knows no scenario.
"""
