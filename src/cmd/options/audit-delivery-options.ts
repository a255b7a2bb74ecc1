import { Check, Flag } from './flag.ts';

export type AuditMode = 'batch' | 'blocking' | 'blocking-strict';

const modes = ['batch', 'blocking', 'blocking-strict'];
const version = 'audit.k8s.io/v1';

/** Delivery options of an audit backend: the flags `--audit-BACKEND-…` that all backends have in common. */
export interface AuditDeliveryOptions {
  readonly version: string;
  readonly mode: AuditMode;
  readonly batchBufferSize: number;
  readonly batchMaxSize: number;
  /** Maximum time in milliseconds that an event waits for its batch. */
  readonly batchMaxWait: number;
  readonly batchThrottleEnable: boolean;
  /** Maximum number of batches per second. */
  readonly batchThrottleQps: number;
  readonly batchThrottleBurst: number;
  readonly truncateEnabled: boolean;
  /** Maximum size of an event in bytes. */
  readonly truncateMaxEventSize: number;
  readonly truncateMaxBatchSize: number;
}

type Defaults = Pick<AuditDeliveryOptions, 'mode' | 'batchMaxSize' | 'batchMaxWait' | 'batchThrottleQps' | 'batchThrottleBurst'>;

/**
 * Returns the options class of a backend. Options of unused features are not validated. Upstream: apiserver/pkg/server/options/audit.go.
 */
function auditDeliveryOptions(backend: 'log' | 'webhook', defaults: Defaults): new () => AuditDeliveryOptions {
  const flag = (name: string): PropertyDecorator => Flag(`audit-${backend}-${name}`);
  const positive = (what: string, isUsed: (options: AuditDeliveryOptions) => boolean): PropertyDecorator =>
    Check<AuditDeliveryOptions>((value: number, options) =>
      value > 0 || !isUsed(options) ? undefined : `invalid audit ${what.replace('BACKEND', backend)} ${value}, must be a positive number`,
    );
  const batches = ({ mode }: AuditDeliveryOptions): boolean => mode === 'batch';
  const throttles = (options: AuditDeliveryOptions): boolean => batches(options) && options.batchThrottleEnable;

  class DeliveryOptions implements AuditDeliveryOptions {
    @flag('version')
    @Check<DeliveryOptions>((value: string) =>
      value === version ? undefined : `invalid audit group version ${value}, allowed versions are ${JSON.stringify(version)}`,
    )
    version = version;

    @flag('mode')
    @Check<DeliveryOptions>((mode: string) =>
      modes.includes(mode) ? undefined : `invalid audit ${backend} mode ${mode}, allowed modes are ${JSON.stringify(modes.join(','))}`,
    )
    mode = defaults.mode;

    @flag('batch-buffer-size')
    @positive('batch BACKEND buffer size', batches)
    batchBufferSize = 10_000;

    @flag('batch-max-size')
    @positive('batch BACKEND max batch size', batches)
    batchMaxSize = defaults.batchMaxSize;

    @flag('batch-max-wait')
    batchMaxWait = defaults.batchMaxWait;

    @flag('batch-throttle-enable')
    batchThrottleEnable = defaults.batchThrottleQps > 0;

    @flag('batch-throttle-qps')
    @positive('batch BACKEND throttle QPS', throttles)
    batchThrottleQps = defaults.batchThrottleQps;

    @flag('batch-throttle-burst')
    @positive('batch BACKEND throttle burst', throttles)
    batchThrottleBurst = defaults.batchThrottleBurst;

    @flag('truncate-enabled')
    truncateEnabled = false;

    @flag('truncate-max-event-size')
    @positive('truncate BACKEND max event size', () => true)
    truncateMaxEventSize = 102_400;

    @flag('truncate-max-batch-size')
    @Check<DeliveryOptions>((size: number, { truncateMaxEventSize: event }) =>
      size >= event
        ? undefined
        : `invalid audit truncate ${backend} max batch size ${size}, must be greater than max event size (${event})`,
    )
    truncateMaxBatchSize = 10_485_760;
  }
  return DeliveryOptions;
}

export const AuditLogDeliveryOptions = auditDeliveryOptions('log', {
  mode: 'blocking',
  batchMaxSize: 1,
  batchMaxWait: 0,
  batchThrottleQps: 0,
  batchThrottleBurst: 0,
});

export const AuditWebhookDeliveryOptions = auditDeliveryOptions('webhook', {
  mode: 'batch',
  batchMaxSize: 400,
  batchMaxWait: 30_000,
  batchThrottleQps: 10,
  batchThrottleBurst: 15,
});
