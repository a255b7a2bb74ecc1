import { expect, it } from 'vitest';
import { checkIdentity, type Identity } from './identity.ts';

const identity: Identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a', uid: 'u' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a', uid: 'u' } };

it('accepts the object of the record', () => {
  expect(() => checkIdentity(object, identity)).not.toThrow();
});

it.each([
  { changed: { ...object, kind: 'Secret' }, difference: 'kind is "Secret", not "ConfigMap"' },
  { changed: { ...object, apiVersion: 'v2' }, difference: 'apiVersion is "v2", not "v1"' },
  { changed: { ...object, metadata: { ...object.metadata, name: 'b' } }, difference: 'metadata.name is "b", not "a"' },
  { changed: { ...object, metadata: { ...object.metadata, namespace: 'b' } }, difference: 'metadata.namespace is "b", not "default"' },
  { changed: { ...object, metadata: { namespace: 'default', name: 'a' } }, difference: 'metadata.uid is "", not "u"' },
])('refuses an object whose $difference', ({ changed, difference }) => {
  const message = `cannot store ConfigMap "default/a": its identity was changed after it was decoded: ${difference}`;
  const logged: string[] = [];
  expect(() => checkIdentity(changed, identity, (text) => logged.push(text))).toThrow(`Internal error occurred: ${message}`);
  expect(logged).toEqual([message]);
});
