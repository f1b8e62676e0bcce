// A passkey that did not work says so in words where the person looks, instead of in the browser's console.
const WORDS = {
  NotAllowedError: "The passkey was not used: it was cancelled, or none of yours fits this console.",
  InvalidStateError: "This passkey is already on your account.",
  SecurityError: "Passkeys need the console's own address. Open it under the address it printed.",
};

document.addEventListener("allauth.error", (event) => {
  const slot = document.getElementById("page-result");
  if (!slot) return;
  event.preventDefault();
  const line = Object.assign(document.createElement("p"), { className: "msg" });
  line.append(Object.assign(document.createElement("b"), { textContent: WORDS[event.detail.exception?.name] ?? "The passkey could not be used. Try again, or use your password." }));
  slot.replaceChildren(line);
});
