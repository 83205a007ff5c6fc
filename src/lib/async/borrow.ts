/** Something that was lent and is in hand until it is given back. */
export interface Borrowed<Value> {
  value: Value
  /** Resolves when the lender has it back. To be called once. */
  release(): Promise<void>
}

/** Takes what a lender hands to a piece of work, where the work does not fit into one function. Throws what the lender throws. */
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
