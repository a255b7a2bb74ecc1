import { admissionTable } from 'kubenest/sdk/testing';
import { EventRateLimit } from './event-rate-limit.ts';
import { object } from './test-objects.ts';

const limits = { configuration: { limits: [{ type: 'User', qps: 1, burst: 2, cacheSize: 1 }] } };
const event = object('v1', 'Event', {}, { namespace: 'ns' });
let time = 0;
const clock = { now: () => time, wallTime: () => time, after: () => () => {}, every: () => () => {} };
admissionTable(
  EventRateLimit,
  [
    { name: 'the first event', object: event },
    { name: 'a dry run consumes no token', object: event, dryRun: true },
    { name: 'the second event', object: event },
    { name: 'an event beyond the limit', object: event, denied: /^Too many requests: limit reached on type User for key jane$/ },
    { name: 'an event of events.k8s.io is not limited', object: object('events.k8s.io/v1', 'Event', {}, { namespace: 'ns' }) },
    { name: 'an event of another user', object: event, user: { name: 'joe', groups: [] } },
    { name: 'a user whose bucket was evicted', object: event },
  ],
  { ...limits, clock: { ...clock, now: () => (time += 1) } },
);
