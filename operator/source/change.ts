// Defines how one object has changed between two looks at what is watched. A type only.

/** It came, changed or went. */
export interface Change<T> {
  readonly before: T | undefined
  readonly after: T | undefined
}
