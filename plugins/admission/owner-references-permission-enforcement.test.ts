import { admissionTable, fakeAuthorizer } from 'kubenest/sdk/testing';
import { OwnerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { object } from './test-objects.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: '1' };
const owned = (...ownerReferences: object[]) =>
  object('v1', 'ConfigMap', {}, { namespace: 'ns', ownerReferences: ownerReferences as never });
const restMapper = {
  resourcesOf: ({ kind }: { kind: string }) =>
    kind === 'ReplicaSet' ? [{ resource: { group: 'apps', version: 'v1', resource: 'replicasets' }, namespaced: true }] : [],
};
admissionTable(
  OwnerReferencesPermissionEnforcement,
  [
    { name: 'an owner on create', object: owned(owner) },
    {
      name: 'an owner with blockOwnerDeletion',
      object: owned({ ...owner, blockOwnerDeletion: true }),
      denied: /refers to a resource you can't set finalizers on/,
    },
    {
      name: 'an owner of an unknown kind',
      object: owned({ ...owner, kind: 'None', blockOwnerDeletion: true }),
      denied: /cannot find RESTMapping for APIVersion apps\/v1 Kind None/,
    },
    { name: 'a changed owner', object: owned(owner), oldObject: owned(), denied: /cannot set an ownerRef on a resource you can't delete/ },
    { name: 'an unchanged owner', object: owned(owner), oldObject: owned(owner) },
  ],
  { restMapper },
);
admissionTable(
  OwnerReferencesPermissionEnforcement,
  [
    { name: 'a user with permission to set finalizers', object: owned({ ...owner, blockOwnerDeletion: true }) },
    { name: 'a user with permission to delete', object: owned(owner), oldObject: owned() },
  ],
  { restMapper, authorizer: fakeAuthorizer(({ verb, subresource }) => verb === 'delete' || subresource === 'finalizers') },
);
