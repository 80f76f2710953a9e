# SPDX-License-Identifier: Apache-2.0
"""Who asks for what: the context of a request, and of the services' own work."""

import typing as ty

from oslo_context import context as oslo_context


class RequestContext(oslo_context.RequestContext):
    """oslo.context plus the project scope of database reads.

    ``all_projects`` widens reads to every project, for administrators only. The user's token stays
    in the process that got it: ``to_dict`` leaves it out, so that no message carries it.
    """

    def __init__(self, all_projects: bool = False, **kwargs: ty.Any) -> None:
        super().__init__(**kwargs)
        self.all_projects = all_projects

    @property
    def sees_all(self) -> bool:
        """Whether database reads span all projects."""
        return bool(self.is_admin and self.all_projects)

    def to_dict(self) -> dict[str, ty.Any]:
        """What other processes may know: ids, names and roles."""
        return {
            'user_id': self.user_id, 'user_name': self.user_name,
            'project_id': self.project_id, 'project_name': self.project_name,
            'user_domain_id': self.user_domain_id, 'user_domain_name': self.user_domain_name,
            'project_domain_id': self.project_domain_id,
            'project_domain_name': self.project_domain_name,
            'roles': list(self.roles), 'is_admin': self.is_admin,
            'all_projects': self.all_projects, 'request_id': self.request_id,
            'global_request_id': self.global_request_id,
        }

    @classmethod
    def from_dict(cls, values: dict[str, ty.Any], **kwargs: ty.Any) -> 'RequestContext':
        """The context that ``to_dict`` described; unknown keys are ignored."""
        known = {key: values[key] for key in _FIELDS if key in values}
        return cls(**{**known, 'overwrite': False, **kwargs})

    def elevated(self, all_projects: bool = True) -> 'RequestContext':
        """The same request with the rights of an administrator."""
        return self.from_dict({**self.to_dict(), 'is_admin': True, 'all_projects': all_projects},
                              auth_token=self.auth_token)


_FIELDS = frozenset(RequestContext(overwrite=False).to_dict())


def get_admin_context(all_projects: bool = True) -> RequestContext:
    """The context of a service's own work: no user, no project, all rights."""
    return RequestContext(is_admin=True, all_projects=all_projects, overwrite=False)
