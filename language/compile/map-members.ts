// Maps the templates that an object has under some names, and leaves out those that it does not have.

/**
 * The members of `names` that are there, each as `change` gives it.
 * @example mapMembers({ headers: 1 }, ['headers', 'body'], String) // { headers: '1' }
 */
export const mapMembers = <K extends string, A, B>(
  holder: Readonly<Partial<Record<K, A>>>,
  names: readonly K[],
  change: (template: A) => B,
): Partial<Record<K, B>> => {
  const changed: Partial<Record<K, B>> = {}
  for (const name of names) {
    const template = holder[name]
    if (template !== undefined) changed[name] = change(template)
  }
  return changed
}
