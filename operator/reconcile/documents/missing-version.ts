// Defines what reconcile/ and fleet/ exchange about last good versions after a restart. Types only.

/**
 * A version that data planes were last seen to hold, and that still should serve: the newest generation of its
 * resource is not good, or paused, or lost a claim, and this operator has not seen the one before. Until its text
 * is known it stays where it is (`DesiredSet.kept`), and no new data plane gets it.
 *
 * Whoever finds a data plane that holds `digest` asks it for `GET /api_specs/:id?view=source` and hands the document
 * to `Reconciler.recover(missing, document)`; then the same cache is reconciled again. Variables from Secrets need
 * not be fetched (they never are read back): recover() takes them from the Secrets as they are now, and the digest
 * tells whether these are still the versions that the document was put with. If not, it can't be recovered.
 */
export interface MissingVersion {
  /** `keyOf` of the ApiSpecification. */
  readonly key: string
  /** Under which it is held; where even that is unknown, the state views tell who holds `digest`. */
  readonly id?: string
  readonly digest: string
  /** Of the resource. */
  readonly namespace: string
}
