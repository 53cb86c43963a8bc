/** Formats of identification numbers. Source: govalidator, as kube-openapi's strfmt uses it */

const digitAt = (text: string, index: number): number => text.charCodeAt(index) - 0x30;

const creditCard =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Whether the digits of the text are a credit card number; other characters are ignored. */
export function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!creditCard.test(digits)) return false;
  let sum = 0;
  for (let place = 1; place <= digits.length; place++) {
    const digit = digitAt(digits, digits.length - place);
    sum += place % 2 === 1 ? digit : digit >= 5 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}

const withoutSeparators = (text: string): string => text.replace(/[\t\n\f\r -]+/g, "");

/** Whether the text is an ISBN of ten digits. */
export function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 10 * (digits.endsWith("X") ? 10 : digitAt(digits, 9));
  for (let index = 0; index < 9; index++) sum += (index + 1) * digitAt(digits, index);
  return sum % 11 === 0;
}

/** Whether the text is an ISBN of thirteen digits. */
export function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index++) sum += (index % 2 === 0 ? 1 : 3) * digitAt(digits, index);
  return digitAt(digits, 12) === (10 - (sum % 10)) % 10;
}

/** Whether the text has the form of a US social security number. */
export function isSsn(text: string): boolean {
  return text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text);
}
