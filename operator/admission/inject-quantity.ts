// Reads quantities of Kubernetes, as resources have them, as numbers to compare. Pure.

/** No exponents: they are not used for containers. */
const QUANTITY = /^(\d{1,15}(?:\.\d{1,9})?)(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$/

const FACTORS: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/**
 * More than 0, or undefined: no API server would accept it.
 * @example readQuantity('250m') // 0.25
 */
export const readQuantity = (text: string): number | undefined => {
  const [, digits = '', unit] = QUANTITY.exec(text) ?? []
  const number = Number(digits) * (unit === undefined ? 1 : (FACTORS[unit] ?? Number.NaN))
  // The API server rejects a finer value than a thousandth.
  return number >= 0.001 ? number : undefined
}
