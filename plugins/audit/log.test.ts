import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from 'kubenest/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AuditLog, type AuditLogOptions, legacyLine } from './log.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
});
afterAll(() => rm(folder, { recursive: true }));

const event: AuditEvent = {
  level: 'Metadata',
  auditID: 'id',
  stage: 'ResponseComplete',
  requestURI: '/api/v1/namespaces/ns/pods',
  verb: 'list',
  user: { username: 'jane', groups: ['devs', 'a "b"'] } as AuditEvent['user'],
  impersonatedUser: undefined,
  authenticationMetadata: undefined,
  sourceIPs: ['192.0.2.1', '192.0.2.2'],
  userAgent: 'kubectl',
  objectRef: { resource: 'pods', namespace: 'ns', apiVersion: 'v1' } as AuditEvent['objectRef'],
  responseStatus: { metadata: {}, code: 200 },
  requestObject: undefined,
  responseObject: undefined,
  requestReceivedTimestamp: '2026-01-01T00:00:00.120000Z',
  stageTimestamp: '2026-01-01T00:00:01.000000Z',
  annotations: undefined,
};
const errors: object[] = [];
const logger = { error: (...values: object[]) => void errors.push(values) };
const log = (options: Partial<AuditLogOptions>): AuditLog =>
  new AuditLog({ path: join(folder, 'audit.log'), format: 'json', ...options } as AuditLogOptions, logger as never);

it('writes a line of JSON for each event', async () => {
  const path = join(folder, 'json.log');
  const backend = log({ path });
  expect([backend.process([event, event]), backend.process([event])]).toEqual([true, true]);
  await backend.shutDown();
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[2] as string)).toMatchObject({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'id',
    user: { username: 'jane' },
    responseStatus: { code: 200 },
  });
});

it('writes the legacy format', () => {
  const line =
    '2026-01-01T00:00:00.12Z AUDIT: id="id" stage="ResponseComplete" ip="192.0.2.1" method="list" user="jane" groups="\\"devs\\",\\"a \\\\\\"b\\\\\\"\\"" as="<self>" asgroups="<lookup>" user-agent="kubectl" namespace="ns" uri="/api/v1/namespaces/ns/pods" response="200"';
  expect(legacyLine(event)).toBe(line);
});

it('writes the characters of clients in the legacy format so that a terminal shows them as text', () => {
  const line = legacyLine({ ...event, userAgent: 'a\u001b[2J\u009b\u2028\u202e\x7f"\n', user: { username: 'ü', groups: ['g\u0085'] } });
  expect(line).toContain(String.raw`user="ü" groups="\"g\\u0085\""`);
  expect(line).toContain(String.raw`user-agent="a\x1b[2J\u009b\u2028\u202e\x7f\"\n"`);
});

it('writes placeholders of the legacy format', () => {
  const line = legacyLine({
    ...event,
    user: {} as AuditEvent['user'],
    sourceIPs: undefined,
    objectRef: undefined,
    responseStatus: undefined,
  });
  expect(line).toMatch(/ip="<unknown>" .*user="<none>" groups="<none>" .*namespace="<none>" .*response="<deferred>"$/);
});

it('reports events as lost if they cannot be written, and logs the reason', async () => {
  const backend = log({ path: join(folder, 'closed.log') });
  await backend.shutDown();
  const broken = {
    ...event,
    get verb(): string {
      throw new Error('no verb');
    },
  };
  expect(backend.process([broken])).toBe(false);
  expect(errors).toEqual([[{ reason: 'no verb', events: 1 }, 'cannot write audit events']]);
});

it('does not start with a file that cannot be opened', () => {
  expect(() => log({ path: join(folder, 'none', '\0') })).toThrow();
});
