# SPDX-License-Identifier: Apache-2.0
"""Who asks for what: the context of a request, and of the services' own work."""

import typing as ty

from oslo_context import context as oslo_context

_FIELDS = ('user_id', 'user_name', 'project_id', 'project_name', 'user_domain_id',
           'user_domain_name', 'project_domain_id', 'project_domain_name', 'roles', 'is_admin',
           'all_projects', 'request_id', 'global_request_id')


class RequestContext(oslo_context.RequestContext):
    """oslo.context plus the project scope of database reads.

    ``all_projects`` widens reads to every project, for administrators only. The user's token stays
    in the process that got it: ``to_dict`` leaves it out, so that no message carries it.
    """

    def __init__(self, all_projects: bool = False, overwrite: bool = True,
                 **kwargs: ty.Any) -> None:
        """
        :param overwrite: the log lines of this thread are those of this request from now on
        """
        self.all_projects = all_projects
        self._made = overwrite
        super().__init__(overwrite=overwrite, **kwargs)
        self._made = True

    def update_store(self) -> None:
        """From now on the log lines of this thread are those of this request."""
        # oslo.context also stores what must not be, in threads that have had no request yet.
        if self._made:
            super().update_store()

    @property
    def sees_all(self) -> bool:
        """Whether database reads span all projects."""
        return bool(self.is_admin and self.all_projects)

    def to_dict(self) -> dict[str, ty.Any]:
        """What other processes may know: ids, names and roles."""
        return {**{name: getattr(self, name) for name in _FIELDS}, 'roles': list(self.roles)}

    @classmethod
    def from_dict(cls, values: dict[str, ty.Any], **kwargs: ty.Any) -> 'RequestContext':
        """The context that ``to_dict`` described; unknown keys are ignored."""
        known = {key: values[key] for key in _FIELDS if key in values}
        return cls(**{**known, 'overwrite': False, **kwargs})

    def elevated(self, all_projects: bool = True) -> 'RequestContext':
        """The same request with the rights of an administrator."""
        return self.from_dict({**self.to_dict(), 'is_admin': True, 'all_projects': all_projects},
                              auth_token=self.auth_token)


def get_admin_context(all_projects: bool = True) -> RequestContext:
    """The context of a service's own work: no user, no project, all rights."""
    return RequestContext(is_admin=True, all_projects=all_projects, overwrite=False)
