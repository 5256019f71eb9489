"""Who may do what in a tenant: entitlements, bindings, credentials, enrolments.

All of it is history of one scope of the tenant, ``tenant/shared/authority``, and says
of every other scope of that tenant who may read and write there.
"""
