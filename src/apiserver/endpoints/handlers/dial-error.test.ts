import { expect, it } from 'vitest';
import { dialErrorText } from './dial-error.ts';

const error = (fields: object): Error => Object.assign(new Error("in Node's words"), fields);

it.each([
  { error: error({ code: 'ECONNREFUSED', address: '10.0.0.1', port: 80 }), text: 'dial tcp 10.0.0.1:80: connect: connection refused' },
  { error: error({ code: 'EHOSTUNREACH', address: 'fd00::1', port: 80 }), text: 'dial tcp [fd00::1]:80: connect: no route to host' },
  { error: error({ code: 'ETIMEDOUT', address: '10.0.0.1', port: 80 }), text: 'dial tcp 10.0.0.1:80: i/o timeout' },
  { error: error({ code: 'ENOTFOUND', hostname: 'nobody' }), text: 'dial tcp: lookup nobody: no such host' },
  {
    error: new AggregateError([error({ code: 'ECONNREFUSED', address: '::1', port: 1 }), error({})]),
    text: 'dial tcp [::1]:1: connect: connection refused',
  },
  { error: error({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }), text: 'http: server gave HTTP response to HTTPS client' },
  { error: error({ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }), text: 'remote error: tls: certificate required' },
  { error: error({ code: 'EPROTO' }), text: "in Node's words" },
])('$text', ({ error: cause, text }) => {
  expect(dialErrorText(cause)).toBe(text);
});
