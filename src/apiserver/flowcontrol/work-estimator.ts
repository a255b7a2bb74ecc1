import type { GroupResource } from '#apimachinery/meta/types';
import type { RequestContext } from '#apiserver/request/request-context';
import type { WorkEstimate } from './queue-set.ts';
import type { WatchTracker } from './watch-tracker.ts';

/** Returns the number of stored objects of a resource and their average size. */
export type ObjectStats = (
  resource: GroupResource,
) => { readonly objectCount: number; readonly estimatedAverageObjectSizeBytes: number } | undefined;

/** Memory that corresponds to one seat. Upstream: apiserver/pkg/util/flowcontrol/request/config.go, list_work_estimator.go. */
const bytesPerSeat = 100_000;
/** Maximum memory of a list from the cache, which is sent while it is read. */
const maxCachedBytes = 1_000_000;
const maxListSeats = 100;
const maxMutatingSeats = 10;
const watchesPerSeat = 10;
const eventMs = 5;

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalMs: 0 };

/**
 * Estimates the seats of a request: lists by the objects read, writes by the watches notified. Upstream:
 * apiserver/pkg/util/flowcontrol/request.
 */
export class WorkEstimator {
  constructor(
    private readonly stats: ObjectStats,
    private readonly watches: WatchTracker,
  ) {}

  /** `maxSeats` is the maximum for one request at the priority level; 0: no limit specific to the level. */
  estimate({ info, query }: RequestContext, maxSeats: number): WorkEstimate {
    if (!info.isResourceRequest) return oneSeat;
    switch (info.verb) {
      case 'get':
        return oneSeat;
      case 'list':
        return this.#list(info, query, maxSeats);
      case 'watch':
        return startsWithEvents(query) ? this.#list(info, query, maxSeats) : oneSeat;
      case 'create':
      case 'update':
      case 'patch':
      case 'delete':
        return this.#mutating(info, maxSeats);
      default:
        return oneSeat;
    }
  }

  #list({ apiGroup, resource, name }: RequestContext['info'], query: string, maxSeats: number): WorkEstimate {
    const stats = this.stats({ group: apiGroup, resource });
    if (!stats || stats.objectCount === 0) return oneSeat;
    const { objectCount, estimatedAverageObjectSizeBytes: averageBytes } = stats;
    const limit = query.includes('limit=') ? Number(new URLSearchParams(query).get('limit')) : 0;
    const objects = name !== '' ? 1 : limit > 0 ? Math.min(limit, objectCount) : objectCount;
    const seats = Math.ceil(Math.min(objects * averageBytes, maxCachedBytes) / bytesPerSeat);
    if (seats <= 1) return oneSeat;
    return {
      initialSeats: Math.min(seats, maxSeats === 0 ? maxListSeats : Math.min(maxSeats, maxListSeats)),
      finalSeats: 0,
      additionalMs: 0,
    };
  }

  #mutating(info: RequestContext['info'], maxSeats: number): WorkEstimate {
    if (info.resource === 'serviceaccounts' && info.subresource === 'token') return oneSeat;
    const watches = this.watches.interested(info);
    if (watches < watchesPerSeat) return oneSeat;
    const wanted = Math.ceil(watches / watchesPerSeat);
    const finalSeats = Math.min(wanted, maxSeats === 0 ? maxMutatingSeats : Math.min(maxSeats, maxMutatingSeats));
    return { initialSeats: 1, finalSeats, additionalMs: (wanted * eventMs) / finalSeats };
  }
}

/** True for watches that start with the current objects. */
function startsWithEvents(query: string): boolean {
  const parameters = new URLSearchParams(query);
  const version = parameters.get('resourceVersion') ?? '';
  return parameters.get('sendInitialEvents') === 'true' || version === '' || version === '0';
}
