import { type AuditBackend, AuditBackendPlugin, type AuditEvent, Configuration, inject, Logger, quote } from 'kubenest/sdk';
import { eventJson } from '#sdk/internal';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

export interface AuditLogOptions extends RotationOptions {
  /** File path; `-` for standard output. */
  readonly path: string;
  readonly format: 'json' | 'legacy';
}

interface Output {
  write(text: string): void;
  close(): void;
}

/** `--audit-log-path`: writes one line for each event. Upstream: apiserver/plugin/pkg/audit/log/backend.go. */
@AuditBackendPlugin({ name: 'log' })
export class AuditLog implements AuditBackend {
  readonly name = 'log';
  readonly #output: Output;
  readonly #lineOf: (event: AuditEvent) => string;

  /** Throws if the file cannot be opened. */
  constructor(
    @inject(Configuration) options: AuditLogOptions,
    @inject(Logger) private readonly logger: Pick<Logger, 'error'>,
  ) {
    const onError = (error: unknown): void => logger.error({ reason: (error as Error).message }, 'cannot rotate old audit logs');
    this.#output = options.path === '-' ? standardOutput : new RotatingFile(options.path, options, onError);
    this.#lineOf = options.format === 'json' ? eventJson : legacyLine;
  }

  process(events: readonly AuditEvent[]): boolean {
    try {
      let lines = '';
      for (const event of events) lines += `${this.#lineOf(event)}\n`;
      this.#output.write(lines);
      return true;
    } catch (error) {
      this.logger.error({ reason: (error as Error).message, events: events.length }, 'cannot write audit events');
      return false;
    }
  }

  async shutDown(): Promise<void> {
    this.#output.close();
  }
}

/** Maximum number of characters buffered while standard output is blocked. */
const maxWaiting = 16 * 1_048_576;

const standardOutput: Output = {
  write(text) {
    if (process.stdout.writableLength > maxWaiting) throw new Error('standard output is not read');
    process.stdout.write(text);
  },
  close() {},
};

/** Formats an event in the legacy format. Upstream: apiserver/pkg/audit/format.go. */
export function legacyLine(event: AuditEvent): string {
  const list = (texts: readonly string[]): string => texts.map(quote).join(',');
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const fields: readonly (readonly [string, string])[] = [
    ['id', event.auditID],
    ['stage', event.stage],
    ['ip', sourceIPs?.[0] ?? '<unknown>'],
    ['method', event.verb],
    ['user', user.username ?? '<none>'],
    ['groups', user.username && user.groups ? list(user.groups) : '<none>'],
    ['as', impersonatedUser ? (impersonatedUser.username ?? '') : '<self>'],
    ['asgroups', impersonatedUser?.groups ? list(impersonatedUser.groups) : '<lookup>'],
    ['user-agent', event.userAgent ?? ''],
    ['namespace', objectRef?.namespace ?? '<none>'],
    ['uri', event.requestURI],
    ['response', String(responseStatus?.['code'] ?? '<deferred>')],
  ];
  const time = event.requestReceivedTimestamp.replace(/\.?0+Z$/, 'Z');
  return `${time} AUDIT: ${fields.map(([name, value]) => `${name}=${quote(value)}`).join(' ')}`;
}
