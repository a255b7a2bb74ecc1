import { Buffer } from 'node:buffer';

/** Status that ends a remote command, as JSON. Upstream: k8s.io/kubelet/pkg/cri/streaming/remotecommand (v4WriteStatusFunc). */
export function exitStatus(code: number): Buffer {
  if (code === 0) return Buffer.from(JSON.stringify({ metadata: {}, status: 'Success' }));
  return Buffer.from(
    JSON.stringify({
      metadata: {},
      status: 'Failure',
      message: `command terminated with non-zero exit code: exit status ${code}`,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
    }),
  );
}
