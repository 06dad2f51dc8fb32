"""Published results forged on purpose: python -m tools.forgeries.

Each forgery is planted in the archive of a toy book, sealed again as only its maker could do. Then
a build starts from it and `verify` reads it. No forgery may execute, none may reach a site, and
each one whose result is drawn has to be found, in one sentence and with no traceback.
"""
