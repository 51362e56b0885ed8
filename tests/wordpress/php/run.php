<?php
// Runs PHP inside WordPress, as the administrator: that of standard input on the command line (run.php SITE HOST MODE), that of
// a request's body in the web server. MODE "install" installs WordPress first.
$in_server = 'cli' !== PHP_SAPI;
if ( $in_server ) {
	$folder                 = $_SERVER['DOCUMENT_ROOT'];
	$mode                   = 'run';
	$code                   = file_get_contents( 'php://input' );
	$_SERVER['REQUEST_URI'] = $_GET['path'];
} else {
	list( , $folder, $host, $mode ) = $argv;
	$code                           = stream_get_contents( STDIN );
	$_SERVER['HTTP_HOST']           = $host;
	$_SERVER['SERVER_NAME']         = explode( ':', $host )[0];
	$_SERVER['SERVER_PROTOCOL']     = 'HTTP/1.1';
	$_SERVER['REQUEST_URI']         = '/';
}
$_SERVER['REQUEST_METHOD'] = 'GET';
$_GET                      = array();
if ( 'install' === $mode ) {
	define( 'WP_INSTALLING', true );
	// Replaces a function of WordPress: no mail is sent.
	function wp_new_blog_notification() {}
}
require "$folder/wp-load.php";
if ( 'install' === $mode ) {
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	wp_install( 'A site', 'admin', 'admin@example.org', true, '', 'admin' );
	$wp_rewrite->set_permalink_structure( '/%postname%/' );
	delete_option( 'rewrite_rules' );
	exit;
}
wp_set_current_user( get_user_by( 'login', 'admin' )->ID );
eval( $code );
