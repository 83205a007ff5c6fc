/** A value that is in use until it is released. */
export interface Borrowed<Value> {
  value: Value
  /** Resolves when the lender has the value back. Call it once. */
  release(): Promise<void>
}

/** Keeps the value of a callback-style function (`lend`) in use beyond one function. Throws what `lend` throws. */
export function borrow<Value>(
  lend: (work: (value: Value) => Promise<void>) => Promise<void>,
): Promise<Borrowed<Value>> {
  return new Promise((resolve, reject) => {
    let giveBack = () => {}
    const released = new Promise<void>((settle) => {
      giveBack = settle
    })
    const lent = lend((value) => {
      resolve({
        value,
        release: () => {
          giveBack()
          return lent
        },
      })
      return released
    })
    lent.catch(reject)
  })
}
