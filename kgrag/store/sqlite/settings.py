"""The settings of a knowledge base, and the number of its last change."""

from collections.abc import Mapping

from kgrag.kb_meta import NOTE
from kgrag.store.checks import check_settings
from kgrag.store.sqlite.changes import current_mark
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.seals import refuse_damaged_settings, seal_settings
from kgrag.store.sqlite.statements import run, run_each


class Settings(Role):
    """Settings and state; see `kgrag.store.whole` for what each method promises."""

    def get_meta(self, key: str) -> str | None:
        """Return a setting or note, or None; StoreError if any is damaged."""
        if not key.startswith(NOTE):
            return self.all_meta().get(key)
        with self._reading() as connection:
            refuse_damaged_settings(connection, "meta")
            row = run(connection, "setting", key).fetchone()
        return None if row is None else str(row[0])

    def all_meta(self) -> dict[str, str]:
        """Return every setting, ordered by key.

        Raises:
            StoreError: If one is not as it was stored, or of no use.
        """
        with self._reading() as connection:
            refuse_damaged_settings(connection, "meta")
            return check_settings(dict(run(connection, "settings").fetchall()))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Record settings, all or none."""
        with self._database.write() as connection:
            run_each(connection, "put_setting", values.items())
            seal_settings(connection)

    def change_counter(self) -> int:
        """Return the number of the last commit that changed what `export` yields of documents."""
        with self._reading() as connection:
            return current_mark(connection).seq
