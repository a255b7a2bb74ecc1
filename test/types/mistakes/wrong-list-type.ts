import type { Informers } from 'kubenest/sdk';
import { Deployment, type Pod } from 'kubenest/kinds';

export function podsOf(informers: Informers, namespace: string): Pod[] {
  // mistake: these are Deployments
  return informers.for(Deployment).list(namespace);
}
