// SPDX-License-Identifier: Apache-2.0
// A terminal for the URL that attach or execute returned. It comes in the field, after '#' in this
// page's own address, or as this page's query: the URL with http in place of ws.
import {Terminal} from './xterm.mjs';
import {FitAddon} from './addon-fit.mjs';

const PROTOCOLS = ['terminal.zun.openstack.org', 'binary'];
const NORMAL = 1000, GOING_AWAY = 1001, LIMIT = 4408;

const byId = (id) => document.getElementById(id);
const terminal = new Terminal({cursorBlink: true, scrollback: 10000});
const fit = new FitAddon();
const encoder = new TextEncoder();
let socket = null;
let echo = false;

function say(text, bad) {
    byId('status').textContent = text;
    byId('status').className = bad ? 'bad' : '';
}

function show(connected) {
    byId('open').hidden = byId('url').disabled = connected;
    byId('close').hidden = !connected;
}

function send(data) {
    if (socket !== null && socket.readyState === WebSocket.OPEN)
        socket.send(data);
}

function resize() {
    fit.fit();
    send(JSON.stringify({resize: [terminal.rows, terminal.cols]}));
}

function control(text) {
    const told = JSON.parse(text);
    if (told.kind !== undefined) {
        // Without a terminal at the other end nobody turns keys into lines.
        echo = !told.tty && told.kind !== 'logs';
        terminal.options.convertEol = !told.tty;
        terminal.options.disableStdin = told.kind === 'logs';
        say(told.kind === 'logs' ? 'Connected: log, read only' : 'Connected');
    }
    if (told.exit !== undefined)
        byId('status').dataset.exit = told.exit;
}

function type(text) {
    if (echo) {
        text = text.replaceAll('\r', '\n');
        terminal.write(text);
    }
    send(encoder.encode(text));
}

// A browser does not tell a page why a WebSocket was refused: ask.
async function why(url) {
    const asked = new URL(url);
    asked.protocol = asked.protocol === 'wss:' ? 'https:' : 'http:';
    asked.pathname = asked.pathname.replace(/[^/]*$/, 'ticket');
    try {
        const answer = await fetch(asked, {cache: 'no-store'});
        return answer.ok ? 'The console cannot be reached.' : (await answer.text()).trim();
    } catch {
        return 'The console cannot be reached, or its ticket is not valid any more.';
    }
}

async function ended(event, opened, url) {
    show(false);
    socket = null;
    terminal.options.cursorBlink = false;
    if (!opened) {
        say(await why(url), true);
        return;
    }
    const exit = byId('status').dataset.exit;
    const reason = event.reason || (event.code === NORMAL ? 'Closed' : 'Connection lost');
    say(exit === undefined ? `${reason} (${event.code})` : `Ended with exit code ${exit}`,
        ![NORMAL, GOING_AWAY, LIMIT].includes(event.code));
}

function connect(url) {
    let opened = false;
    delete byId('status').dataset.exit;
    terminal.reset();
    say('Connecting…');
    show(true);
    try {
        socket = new WebSocket(url, PROTOCOLS);
    } catch (error) {
        show(false);
        say(`This is no console URL: ${error.message}`, true);
        return;
    }
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
        opened = true;
        terminal.options.cursorBlink = true;
        say('Connected');
        resize();
        terminal.focus();
    };
    socket.onmessage = (event) => {
        if (typeof event.data === 'string')
            control(event.data);
        else
            terminal.write(new Uint8Array(event.data));
    };
    socket.onclose = (event) => ended(event, opened, url);
}

terminal.loadAddon(fit);
terminal.open(byId('terminal'));
terminal.onData(type);
terminal.onBinary((text) => send(Uint8Array.from(text, (one) => one.charCodeAt(0))));
fit.fit();
new ResizeObserver(resize).observe(byId('terminal'));
byId('bar').addEventListener('submit', (event) => {
    event.preventDefault();
    connect(byId('url').value.trim());
});
byId('close').addEventListener('click', () => socket?.close(NORMAL));

const given = location.hash ? decodeURIComponent(location.hash.slice(1))
    : location.search ? location.href.replace(/^http/, 'ws') : '';
if (given) {
    byId('url').value = given;
    // The ticket stays out of the history.
    history.replaceState(null, '', location.pathname);
    connect(given);
}
