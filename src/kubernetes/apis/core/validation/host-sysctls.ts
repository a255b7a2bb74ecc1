import type { PodSpec } from '#kubernetes/schema/core_v1.gen';

const ipcSysctls: ReadonlySet<string> = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

/** Swaps dots and slashes if a slash comes first: `net/ipv4/conf/eth0.1` becomes `net.ipv4.conf.eth0/1`. */
function normalizedSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === '/' ? name.replace(/[./]/g, (char) => (char === '/' ? '.' : '/')) : name;
}

/** Returns the error of a sysctl that belongs to a namespace shared with the host; undefined if there is none. */
export function hostSysctlError(name: string, spec: PodSpec): string | undefined {
  if (!spec.hostNetwork && !spec.hostIPC) return undefined;
  const sysctl = normalizedSysctl(name).split('*', 1)[0]!;
  if (spec.hostNetwork && sysctl.startsWith('net.')) return "may not be specified when 'hostNetwork' is true";
  if (spec.hostIPC && (ipcSysctls.has(sysctl) || sysctl.startsWith('fs.mqueue.'))) return "may not be specified when 'hostIPC' is true";
  return undefined;
}
