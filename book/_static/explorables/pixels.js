/** Matrices as pixels: what is positive in the colour of their quantity, the rest in grey. */

const FAINTER = 0.6; // what is negative, beside what is positive

/** Paint the entries of a matrix, by rows, on a canvas of its size; one of size `most` is opaque. */
export function paint(canvas, values, most) {
  const drawing = canvas.getContext("2d");
  const picture = drawing.createImageData(canvas.width, canvas.height);
  const pixels = new DataView(picture.data.buffer);
  const style = getComputedStyle(canvas);
  const [above, below] = ["--q", "--ex-other"].map((name) => parseInt(style.getPropertyValue(name).trim().slice(1), 16));
  values.forEach((value, i) => {
    const opacity = Math.round((255 * (value > 0 ? value : -FAINTER * value)) / most);
    pixels.setUint32(4 * i, (value > 0 ? above : below) * 256 + opacity);
  });
  drawing.putImageData(picture, 0, 0);
}
