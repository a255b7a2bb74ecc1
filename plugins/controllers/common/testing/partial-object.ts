import type { KubeObject } from 'kubenest/sdk';

/** An object of a table, which may lack the members that the controller does not read. */
export function partialObject(members: object): KubeObject {
  return members as KubeObject;
}
