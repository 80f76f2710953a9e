# SPDX-License-Identifier: Apache-2.0
"""What is asked of one resource provider."""

from oslo_versionedobjects import fields

from zun.objects import versioned


@versioned.register
class RequestGroup(versioned.ZunObject):
    """A granular request group of Placement."""

    VERSION = '1.0'
    fields = {
        'use_same_provider': fields.BooleanField(default=True),
        'resources': fields.DictOfIntegersField(default={}),
        'required_traits': fields.SetOfStringsField(default=set()),
        'forbidden_traits': fields.SetOfStringsField(default=set()),
        'aggregates': fields.ListOfListsOfStringsField(default=[]),
        'requester_id': fields.Field(fields.String(), nullable=True, default=None),
        'provider_uuids': fields.ListOfUUIDField(default=[]),
        'in_tree': fields.Field(fields.UUID(), nullable=True, default=None),
        'created_at': fields.DateTimeField(tzinfo_aware=False, nullable=True),
        'updated_at': fields.DateTimeField(tzinfo_aware=False, nullable=True),
    }
