/** One attribute of a span or event; an undefined value leaves the attribute out. */
export type Attribute = readonly [key: string, value: string | number | undefined];

/** Adds an event to a span. */
export type AddEvent = (name: string, attributes?: readonly Attribute[]) => void;

/** The span of a sampled request, to which handlers, store and admission add. */
export interface RequestSpan {
  /** Runs the work within a child span of the verb's span; the work may add events to it. */
  around<T>(name: string, attributes: readonly Attribute[], work: (addEvent: AddEvent) => T): T;
  /** Adds an event to the span of the verb. */
  readonly event: AddEvent;
  /** Headers that make calls to other servers part of the same trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the span when the request is answered. */
  end(): void;
}
