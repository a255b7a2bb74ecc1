import type { UserInfo } from '#apiserver/request/user-info';

export type NameTest = (name: string) => boolean;

/** Returns a test for names that match one of the patterns, in which `*` stands for any text. */
export function nameTest(patterns: readonly string[]): NameTest {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => new RegExp(`^${pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`, 's'));
  return (name) => exact.has(name) || globs.some((glob) => glob.test(name));
}

export type SubjectTest = (user: UserInfo) => boolean;

/** Returns a test for users who match `users` or a group of whom matches `groups`; undefined if neither is given. */
export function subjectTest({
  users,
  groups,
}: {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
}): SubjectTest | undefined {
  if (!users && !groups) return undefined;
  const isUser = nameTest(users ?? []);
  const isGroup = nameTest(groups ?? []);
  return (user) => isUser(user.name) || user.groups.some(isGroup);
}
