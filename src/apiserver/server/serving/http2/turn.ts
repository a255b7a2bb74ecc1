let turn = 0;
let isCounted = false;

function next(): void {
  isCounted = false;
  turn += 1;
}

/** Which turn of the event loop this is: what comes from sockets until each of them has been read has the same number. */
export function currentTurn(): number {
  if (!isCounted) {
    isCounted = true;
    setImmediate(next);
  }
  return turn;
}
