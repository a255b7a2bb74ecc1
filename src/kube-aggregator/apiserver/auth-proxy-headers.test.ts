import { expect, it } from 'vitest';
import { authProxyHeaders } from './auth-proxy-headers.ts';

it.each([
  { name: 'a name', user: { name: 'jane', groups: [] }, want: { 'x-remote-user': 'jane' } },
  {
    name: 'all there is',
    user: { name: 'jane', uid: '42', groups: ['a', 'b'], extra: { scopes: ['x', 'y'] } },
    want: { 'x-remote-user': 'jane', 'x-remote-uid': '42', 'x-remote-group': ['a', 'b'], 'x-remote-extra-scopes': ['x', 'y'] },
  },
  {
    name: 'a key that no header may have',
    user: { name: 'jane', groups: [], extra: { 'a.io/b%c': ['1'] } },
    want: { 'x-remote-user': 'jane', 'x-remote-extra-a.io%2Fb%25c': ['1'] },
  },
  { name: 'line ends', user: { name: 'a\r\nX-Remote-Group: b', groups: [] }, want: { 'x-remote-user': 'a  X-Remote-Group: b' } },
  { name: 'bytes of UTF-8', user: { name: 'é', groups: [] }, want: { 'x-remote-user': 'Ã©' } },
])('tells of $name', ({ user, want }) => {
  expect(authProxyHeaders(user)).toEqual(want);
});
