import { describe, expect, it } from 'vitest';
import { checkKind, recordForm } from './record-form.ts';

const version = { group: 'apps', version: 'v1' };
const whole = '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"}}\n';

describe('recordForm', () => {
  it.each([true, false])("accepts the server's own encoding (verified: %s)", (isVerified) => {
    expect(() => recordForm('Deployment', version, isVerified)(Buffer.from(whole))).not.toThrow();
  });

  const refused: readonly (readonly [name: string, text: string | Buffer, message: RegExp])[] = [
    ['nothing', '', /is not an object \(0 bytes\); expected apps\/v1 Deployment/],
    ['another kind', whole.replace('Deployment', 'DaemonSet'), /is a apps\/v1 DaemonSet; expected apps\/v1 Deployment/],
    ['another version', whole.replace('v1', 'v1beta2'), /is a apps\/v1beta2 Deployment/],
    ['members in another order', '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{}}\n', /expected apps\/v1 Deployment/],
    ['truncated JSON', whole.slice(0, -3), /is not an object/],
    ['only the first members', '{"kind":"Deployment","apiVersion":"apps/v1",}\n', /is not an object/],
  ];
  it.each(refused)('rejects %s', (_, text, message) => {
    expect(() => recordForm('Deployment', version, true)(Buffer.from(text))).toThrow(message);
  });

  it.each([
    ['invalid JSON with a valid start and end', Buffer.from(whole.replace('"a"', '"a'))],
    ['invalid UTF-8', Buffer.from(whole.replace('"a"', '"\u00ff"'), 'latin1')],
  ])('rejects %s if the store does not verify values', (_, bytes) => {
    expect(() => recordForm('Deployment', version, false)(bytes)).toThrow();
  });
});

describe('checkKind', () => {
  it.each([
    ['example.com/v1', 'Widget', true],
    ['example.com/v2', 'Widget', true],
    ['example.com/v1', 'Gadget', false],
    ['example.org/v1', 'Widget', false],
    ['v1', 'Widget', false],
  ])('%s %s: %s', (apiVersion, kind, isAccepted) => {
    const check = (): void => checkKind({ apiVersion, kind, metadata: {} }, { group: 'example.com', kind: 'Widget' });
    if (isAccepted) expect(check).not.toThrow();
    else expect(check).toThrow(`it is a ${apiVersion} ${kind}; expected Widget of example.com`);
  });
});
