import type { Client } from 'kubenest/sdk';
import { Deployment, type Pod } from 'kubenest/kinds';

export async function start(client: Client, pod: Pod): Promise<void> {
  // mistake: the object is a Pod
  await client.create(Deployment, pod);
}
