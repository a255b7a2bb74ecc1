/**
 * Records the statuses of the real kube-apiserver: `npm run setup -- run`, or with the checkout's Node: `node
 * test/security/request-forms/record.ts`.
 */
import { askReference } from './reference.ts';
import { writeRecorded } from './recorded.ts';

const recorded = await askReference();
writeRecorded(recorded);
console.log(`${recorded.resources.length} resources, ${recorded.statuses.length} requests`);
