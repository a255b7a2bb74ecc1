import { expect, it } from 'vitest';
import { authProxyHeaders } from './auth-proxy-headers.ts';

it.each([
  { name: 'a name', user: { name: 'jane', groups: [] }, want: { 'x-remote-user': 'jane' } },
  {
    name: 'all attributes',
    user: { name: 'jane', uid: '42', groups: ['a', 'b'], extra: { scopes: ['x', 'y'] } },
    want: { 'x-remote-user': 'jane', 'x-remote-uid': '42', 'x-remote-group': ['a', 'b'], 'x-remote-extra-scopes': ['x', 'y'] },
  },
  {
    name: 'an extra key that is not a valid header name',
    user: { name: 'jane', groups: [], extra: { 'a.io/b%c': ['1'] } },
    want: { 'x-remote-user': 'jane', 'x-remote-extra-a.io%2Fb%25c': ['1'] },
  },
  { name: 'line ends', user: { name: 'a\r\nX-Remote-Group: b', groups: [] }, want: { 'x-remote-user': 'a  X-Remote-Group: b' } },
  { name: 'UTF-8 bytes', user: { name: 'é', groups: [] }, want: { 'x-remote-user': 'Ã©' } },
])('sends $name', ({ user, want }) => {
  expect(authProxyHeaders(user)).toEqual(want);
});
