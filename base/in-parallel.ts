// Runs a task for each item, at most `width` at a time, and starts no other one after a failure.

/**
 * In order, at most `width` at a time. It starts nothing more after one has failed.
 *
 * @throws the first failure, once the tasks that had begun have ended
 * @example await inParallel(names, 4, (name) => files.remove(name))
 */
export const inParallel = async <T>(
  items: readonly T[],
  width: number,
  task: (item: T) => Promise<void>,
): Promise<void> => {
  let next = 0
  let failed: { readonly error: unknown } | undefined
  const worker = async (): Promise<void> => {
    while (failed === undefined && next < items.length) {
      const item = items[next++] as T
      try {
        await task(item)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
  if (failed !== undefined) throw failed.error
}
