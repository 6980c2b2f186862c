"""The accuracy study: models with exact answers, runs of every driver, tables and figures."""
