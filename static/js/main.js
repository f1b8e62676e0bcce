// What every page of the console loads.
import "pilothouse/htmx-bridge";
import "pilothouse/verbs";
import "pilothouse/theme";
import "pilothouse/keys";
import "pilothouse/age-text";
import "pilothouse/command-menu";
import "pilothouse/confirm-inline";
import "pilothouse/copy-id";
import "pilothouse/gateway-socket";
import "pilothouse/held-table";
import "pilothouse/hold-button";
import "pilothouse/live-socket";
import "pilothouse/passkey-words";
import "pilothouse/site-clock";
import "pilothouse/stop-control";
