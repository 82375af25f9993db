// Builds the Event of the API (events.k8s.io/v1) for something that happened to an object, and the patch that counts it
// again. Pure.

import type { ValueMap } from '../../../language/expression/value.ts'
import { microTime } from '../micro-time.ts'

/** What happened, in the terms of the API. */
export interface EventFacts {
  readonly regarding: EventSubject
  readonly type: 'Normal' | 'Warning'
  /** Why, in one word: at most 128 characters. */
  readonly reason: string
  /** For a person; cut after 1 KiB. */
  readonly note: string
  /** What was being done, in one word. */
  readonly action: string
}

/** The object that an Event is about, which is shown by `kubectl describe` of it. */
export interface EventSubject {
  readonly apiVersion: string
  readonly kind: string
  /** Empty: in no namespace. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface EventReporter {
  /** @example gateway.svc.dev/operator */
  readonly controller: string
  /** Such as the name of the pod. */
  readonly instance: string
}

/** For events about objects in no namespace. */
const NO_NAMESPACE = 'default'
const MAX_NOTE_BYTES = 1024
const MAX_WORD = 128
/** Some of the 253 characters of a name are needed for its random end. */
const MAX_NAME = 220

export const eventNamespace = ({ namespace }: EventSubject): string => namespace || NO_NAMESPACE

/** @param end makes the name unique */
export const eventName = ({ name }: EventSubject, end: string): string =>
  `${name.slice(0, MAX_NAME).replace(/[^a-z0-9]+$/, '')}.${end}`

export interface Occurrence {
  readonly facts: EventFacts
  readonly reporter: EventReporter
  readonly name: string
  /** Unix time, milliseconds. */
  readonly atMs: number
}

export const eventObject = ({ facts, reporter, name, atMs }: Occurrence): ValueMap => {
  const { apiVersion, kind, namespace, name: subject, uid } = facts.regarding
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: eventNamespace(facts.regarding) },
    eventTime: microTime(atMs),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, MAX_WORD),
    regarding: { apiVersion, kind, ...(namespace !== '' && { namespace }), name: subject, uid },
    type: facts.type,
    reason: facts.reason.slice(0, MAX_WORD),
    action: facts.action.slice(0, MAX_WORD),
    note: cutNote(facts.note),
  }
}

/** JSON merge patch. `count` is the number of all occurrences, at least 2. */
export const seriesPatch = (count: number, lastAtMs: number): ValueMap => ({
  series: { count, lastObservedTime: microTime(lastAtMs) },
})

/** The API counts bytes. */
export const cutNote = (note: string): string =>
  Buffer.byteLength(note) <= MAX_NOTE_BYTES
    ? note
    : `${Buffer.from(note)
        .subarray(0, MAX_NOTE_BYTES - 4)
        .toString('utf8')
        .replace(/\uFFFD$/, '')}…`
