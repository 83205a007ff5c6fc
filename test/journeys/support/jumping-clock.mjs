// Imported by a program before its own code (`node --import`): each SIGUSR2 moves its clock to the next offset of
// CLOCK_JUMPS, in milliseconds, as a wrong time server or a resumed machine does. Timers and the monotonic clock go on.
const jumps = process.env.CLOCK_JUMPS.split(',').map(Number)
const RealDate = Date
let offset = 0

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offset)
    else super(...given)
  }

  static now() {
    return RealDate.now() + offset
  }
}

process.on('SIGUSR2', () => {
  offset = jumps.shift() ?? 0
  process.stderr.write(`the clock is ${offset} ms ahead\n`)
})
