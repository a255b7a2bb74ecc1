export type EventType = 'Normal' | 'Warning';

/** Form of a controller's events: those of core/v1, as kube-controller-manager writes them, or those of events.k8s.io. */
export type EventForm = 'v1' | 'events.k8s.io';

/** Upstream: core/v1 ObjectReference. */
export interface ObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly fieldPath?: string | undefined;
}

export interface StoredEvent {
  readonly namespace: string;
  readonly name: string;
}
