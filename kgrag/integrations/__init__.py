"""Adapters to other frameworks: each module needs the framework that it is named after."""
