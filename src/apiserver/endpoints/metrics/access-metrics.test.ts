import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { AccessMetrics } from './access-metrics.ts';

test('counts authentication and authorization results', async () => {
  const registry = new Registry();
  const metrics = new AccessMetrics(registry);
  for (const user of ['admin', 'jo@example.com', 'system:node:n1', 'other']) metrics.authenticated('success', 3, user);
  metrics.authenticated('failure', 0);
  metrics.authorized('no-opinion', 0.5);
  metrics.handshakeFailed();
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !/^#|_bucket/.test(line));
  expect(lines).toEqual([
    'apiserver_tls_handshake_errors_total 1',
    'authenticated_user_requests{username="admin"} 1',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 2',
    'authentication_attempts{result="success"} 4',
    'authentication_attempts{result="failure"} 1',
    'authentication_duration_seconds_sum{result="success"} 0.012',
    'authentication_duration_seconds_count{result="success"} 4',
    'authentication_duration_seconds_sum{result="failure"} 0',
    'authentication_duration_seconds_count{result="failure"} 1',
    'authorization_attempts_total{result="no-opinion"} 1',
    'authorization_duration_seconds_sum{result="no-opinion"} 0.0005',
    'authorization_duration_seconds_count{result="no-opinion"} 1',
  ]);
});
